# Kept shell that ends commands. It never forks, so that it also works where a fork bomb holds every process slot. It is
# bash, which reads a file in one piece: other shells ask the kernel for each byte.
calls=/home/agent/.asos/calls

# Most of a command shares its process group, which one call stops at once; its number may be another's by now.
stop_group() {
    leader=0
    read -r leader <"$calls/$key.leader"
    [ "$leader" -gt 1 ] || { leader=0 && return; }
    find_mark "$leader"
    case $mark in
        none | "$key") kill -STOP -- "-$leader" ;;
        *) leader=0 ;;
    esac
}

find_mark() { # pid; sets $mark to the key of the command it belongs to, to `ours`, or to `none`
    mark=none
    while IFS= read -r -d '' entry; do
        case $entry in
            ASOS_CALL=*) mark=${entry#ASOS_CALL=} && return ;;
            ASOS_PART=*) mark=ours ;;
        esac
    done <"/proc/$1/environ"
}

# A process belongs to a command by its session, or if its environment names it, or names none and it was born later.
look() { # sets $victims, and $awake to those of them that are not stopped
    victims= awake=
    for folder in /proc/[0-9]*; do
        stat= pid=${folder#/proc/}
        IFS= read -r -d '' stat <"$folder/stat"
        set -- ${stat##*") "}
        [ $# -ge 20 ] || continue
        case $1 in [ZX]) continue ;; esac
        [ "$2" = 0 ] && continue
        if [ "$leader" = 0 ] || [ "$4" != "$leader" ]; then
            find_mark "$pid"
            case $mark in
                "$key") ;;
                none)
                    case $stat in *"(sshd"*) continue ;; esac # whose title overwrites its environment
                    [ "${20}" -ge "$since" ] || continue
                    ;;
                *) continue ;;
            esac
        fi
        victims="$victims $pid"
        case $1 in [Tt]) ;; *) awake="$awake $pid" ;; esac
    done
}

# All are stopped first: what is stopped has no children any more.
slay() { # key why
    key=$1 since=0 round=0 stat=
    true >"$calls/$key.$2"
    stop_group
    IFS= read -r -d '' stat <"$calls/$key.started"
    set -- ${stat##*") "}
    [ $# -ge 20 ] && since=${20}
    while [ $round -lt 60 ]; do
        look
        [ -n "$victims" ] || break
        if [ -n "$awake" ] && [ $round -lt 30 ]; then kill -STOP $awake; else kill -KILL $victims; fi
        round=$((round + 1))
    done
    [ -z "$victims" ]
} 2>/dev/null
