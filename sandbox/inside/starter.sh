# Kept shell that starts commands. Each command is claimed once by creating KEY.started exclusively; from then on a
# supervisor of its own sees it through, whatever becomes of this shell and of the host.
calls=/home/agent/.asos/calls
umask 022
exec 9>&1

claim() { # key
    set -C
    if true >"$calls/$1.started"; then
        set +C
        echo "new $1"
    else
        set +C
        read -r uptime rest </proc/uptime
        echo "old $1 $uptime"
        return 1
    fi
} 2>/dev/null

supervise() { # key limit stdin folder exports argv...
    file=$calls/$1 limit=$2 stdin=$3 folder=$4 exports=$5 key=$1
    shift 5
    {
        {
            read -r uptime rest </proc/uptime
            read -r stat </proc/self/stat
            printf '%s\n%s\n' "$uptime" "$stat" >"$file.started"
            payload "$@"
            code=$?
            trap '' PIPE
            killed=0
            [ -s "$file.note" ] && killed=1
            read -r uptime rest </proc/uptime
            read -r started <"$file.started"
            printf '%s %s %s %s\n' $code $killed "$started" "$uptime" >"$file.exit"
            printf 'exit %s %s %s %s %s\n' "$key" $code $killed "$started" "$uptime" >&9
        } 4>&1 2>"$file.note" | drain stderr 3>&-
    } 3>&1 | drain stdout
}

payload() (
    cd -- "$folder" || { printf 'no such folder: %s\n' "$folder" >&4; exit 127; }
    eval "$exports"
    exec setsid "$@" <"$stdin" >&3 2>&4 3>&- 4>&- 9>&-
)

# Keeps the first $limit bytes in a file; of the rest the last 16 KiB and the count. It reads to the end of the stream,
# so that the command neither blocks nor dies. The offset in fdinfo spares a process where the kernel tells it.
drain() { # stream
    trap '' PIPE
    exec 5>"$file.$1"
    whole=no at=-1
    head -c "$limit" >&5 9>&- && whole=yes
    while read -r name value; do [ "$name" = pos: ] && at=$value && break; done </proc/self/fdinfo/5
    dropped=0
    if [ $whole = no ] || [ "$at" -lt 0 ] || [ "$at" -ge "$limit" ]; then
        { tee /dev/fd/7 | wc -c >"$file.$1.more"; } 7>&1 | tail -c 16384 >"$file.$1.tail"
        read -r dropped <"$file.$1.more"
    fi
    echo "${dropped:-0}" >"$file.$1.end"
    printf 'end %s %s %s %s\n' "$key" "$1" "$at" "${dropped:-0}" >&9
} 2>/dev/null
