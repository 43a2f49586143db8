# Kept shell that ends commands. It never forks, so that it also works where a fork bomb holds every process slot.
calls=/home/agent/.asos/calls

read_environment() { # pid
    line= environment=
    while read -r line || [ -n "$line" ]; do environment=$environment$line; done <"/proc/$1/environ"
}

# Most of a command shares its process group, which one call stops at once; its number may be another's by now.
stop_group() {
    leader=0
    read -r leader <"$calls/$key.leader"
    [ "$leader" -gt 1 ] || { leader=0 && return; }
    read_environment "$leader"
    case $environment in
        "" | *ASOS_CALL=$key*) kill -STOP -- "-$leader" ;;
        *) leader=0 ;;
    esac
}

# A process belongs to a command by its session, or if its environment names it, or names none and it was born later.
look() { # sets $victims, and $awake to those of them that are not stopped
    victims= awake=
    for folder in /proc/[0-9]*; do
        line= stat= pid=${folder#/proc/}
        while read -r line; do stat=$line; done <"$folder/stat"
        set -- ${stat##*") "}
        [ $# -ge 20 ] || continue
        case $1 in [ZX]) continue ;; esac
        [ "$2" = 0 ] && continue
        if [ "$leader" = 0 ] || [ "$4" != "$leader" ]; then
            read_environment "$pid"
            case $environment in
                *ASOS_CALL=$key*) ;;
                *ASOS_CALL=* | *ASOS_PART=*) continue ;;
                *)
                    case $stat in *"(sshd"*) continue ;; esac # whose title overwrites its environment
                    [ "${20}" -ge "$since" ] || continue
                    ;;
            esac
        fi
        victims="$victims $pid"
        case $1 in [Tt]) ;; *) awake="$awake $pid" ;; esac
    done
}

# All are stopped first: what is stopped has no children any more.
slay() { # key why
    key=$1 since=0 round=0
    true >"$calls/$key.$2"
    stop_group
    while read -r line; do stat=$line; done <"$calls/$key.started"
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
