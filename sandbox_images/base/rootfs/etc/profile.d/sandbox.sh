# For every interactive or login bash, whatever environment it was started with.
export LANG=C.UTF-8
export HTTP_PROXY=http://127.0.0.1:3128 HTTPS_PROXY=http://127.0.0.1:3128 NO_PROXY=localhost,127.0.0.1,::1
export http_proxy=$HTTP_PROXY https_proxy=$HTTPS_PROXY no_proxy=$NO_PROXY
# Written by the host when hosts are inspected: where programs find the authorities they trust.
if [ -r /run/asos/trust.sh ]; then . /run/asos/trust.sh; fi
