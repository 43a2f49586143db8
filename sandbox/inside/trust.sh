# Makes programs in the sandbox trust a certificate authority, which comes on standard input: a bundle of the system's
# own authorities and this one, in a folder that ends with the sandbox, and what names it to each program.
set -e
umask 022
folder=/run/asos
mkdir -p $folder
cat >$folder/authority.pem
cat /etc/ssl/certs/ca-certificates.crt $folder/authority.pem >$folder/trusted.part 2>/dev/null ||
    cp $folder/authority.pem $folder/trusted.part
mv $folder/trusted.part $folder/trusted.pem
printf 'Acquire::https::CaInfo "%s";\n' $folder/trusted.pem >$folder/apt.conf
printf 'ca_certificate = %s\n' $folder/trusted.pem >$folder/wgetrc
for name in "$@"; do printf 'export %s\n' "$name"; done >$folder/trust.sh
# Chromium keeps a store of its own in the home.
if command -v certutil >/dev/null; then
    store=$HOME/.pki/nssdb
    mkdir -p "$store"
    [ -f "$store/cert9.db" ] || certutil -N -d "sql:$store" --empty-password
    certutil -D -d "sql:$store" -n 'Agent Sandbox OS egress' 2>/dev/null || true
    certutil -A -d "sql:$store" -n 'Agent Sandbox OS egress' -t C,, -i $folder/authority.pem
fi
