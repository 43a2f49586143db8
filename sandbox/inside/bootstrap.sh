# Far end of the stream: takes a host key and a user key from standard input, then becomes sshd on the same stream.
# The keys are made by the host for this one connection; an earlier sshd whose host process died is ended first.
umask 077
keys=/run/asos
mkdir -p $keys /home/agent/.asos/calls
if read -r old <$keys/sshd && read -r name <"/proc/$old/comm"; then
    case $name in sshd*) kill "$old" ;; esac
fi 2>/dev/null
: >$keys/host_key
while read -r line && [ -n "$line" ]; do printf '%s\n' "$line" >>$keys/host_key; done
read -r line && printf '%s\n' "$line" >$keys/user_key
echo $$ >$keys/sshd
exec /usr/sbin/sshd -i -e -f /dev/null -h $keys/host_key \
    -o AuthorizedKeysFile=$keys/user_key -o AuthenticationMethods=publickey -o StrictModes=no -o UsePAM=no \
    -o PidFile=none -o Subsystem='sftp internal-sftp -u 0022' -o MaxSessions=64 -o LogLevel=ERROR -o UseDNS=no \
    -o PrintMotd=no -o PrintLastLog=no -o AllowAgentForwarding=no -o X11Forwarding=no -o PermitTunnel=no \
    -o AllowStreamLocalForwarding=no -o PermitUserRC=no -o GatewayPorts=no -o LoginGraceTime=30
