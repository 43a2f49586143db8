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
    read -r leader rest </proc/self/stat
    echo "$leader" >"$file.leader"
    eval "$exports"
    exec setsid "$@" <"$stdin" >&3 2>&4 3>&- 4>&- 9>&-
)

# Keeps the first $limit bytes in a file; of the rest the last 16 KiB and the count. It reads to the end of the stream,
# so that the command neither blocks nor dies. dd writes each piece as it comes and says how many it read, so that one
# process is enough for all that is not large.
drain() { # stream
    trap '' PIPE
    exec 5>"$file.$1"
    kept=0 more=yes dropped=0
    while [ $more = yes ] && [ $kept -lt "$limit" ]; do
        left=$((limit - kept)) size=65536
        [ $left -lt $size ] && size=$left
        count=$((left / size))
        [ $count -gt 1024 ] && count=1024
        LC_ALL=C dd bs=$size count=$count >&5 2>"$file.$1.note" 9>&- || { kept=-1 && break; }
        while read -r first second rest; do
            case "$second $rest" in
                "records in") [ $((${first%+*} + ${first#*+})) -lt $count ] && more=no ;;
                bytes*) kept=$((kept + first)) ;;
            esac
        done <"$file.$1.note"
    done
    if [ $more = yes ]; then
        { tee /dev/fd/7 | wc -c >"$file.$1.more"; } 7>&1 | tail -c 16384 >"$file.$1.tail"
        read -r dropped <"$file.$1.more"
    fi
    echo "${dropped:-0}" >"$file.$1.end"
    printf 'end %s %s %s %s\n' "$key" "$1" "$kept" "${dropped:-0}" >&9
} 2>/dev/null
