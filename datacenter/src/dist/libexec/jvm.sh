# Finds a Java runtime and what options it takes, and keeps the start cache. Read by bin/osier of the distribution and by the
# repository's osier, which are thereby the same; plain sh, and few processes, since it is part of
# every start.
#
# $class_path, jars with ':' between them, and $main, the program's class, are the launcher's.
#
# After osier_find_java: $java, the program; $java_version, its major version; $java_build, which
# build of it, as part of a file's name; $java_options, words without spaces in them.

osier_java_min=21

osier_fail() {
  echo "osier: $*" >&2
  exit 1
}

# The major version of the java program $1 into $found_version, or nothing, and its build into
# $found_build.
osier_version_of() {
  found_version='' found_build=''
  # The file beside it says so at once; asking the program takes half a second of processor time.
  osier_release="${1%/bin/java}/release"
  if [ ! -r "$osier_release" ]; then
    osier_release="$(readlink -f "$1" 2>/dev/null || echo "$1")"
    osier_release="${osier_release%/bin/java}/release"
  fi
  if [ -r "$osier_release" ]; then
    while IFS='=' read -r osier_name osier_value || [ -n "$osier_name" ]; do
      osier_value="${osier_value#\"}"
      case "$osier_name" in
        JAVA_VERSION) found_version="${osier_value%%[!0-9]*}" ;;
        JAVA_RUNTIME_VERSION) found_build="${osier_value%\"}" ;;
      esac
    done <"$osier_release"
  fi
  if [ -z "$found_version" ]; then
    found_version="$("$1" -XshowSettings:properties -version 2>&1 \
      | sed -n 's/^ *java\.specification\.version = \([0-9]*\).*/\1/p' || true)"
  fi
}

# The newest java found, unless OSIER_JAVA_HOME names one.
osier_find_java() {
  java='' java_version=0 java_build=''
  if [ -n "${OSIER_JAVA_HOME:-}" ]; then
    [ -x "$OSIER_JAVA_HOME/bin/java" ] \
      || osier_fail "OSIER_JAVA_HOME is $OSIER_JAVA_HOME, and there is no bin/java in it"
    set -- "$OSIER_JAVA_HOME/bin/java"
  else
    set -- "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java || true)" \
      /usr/lib/jvm/*/bin/java /opt/*/bin/java "${HOME:-/nonexistent}"/.sdkman/candidates/java/*/bin/java
  fi
  osier_seen=''
  for osier_candidate in "$@"; do
    [ -x "$osier_candidate" ] || continue
    osier_version_of "$osier_candidate"
    osier_seen="$osier_seen, $osier_candidate (${found_version:-unknown version})"
    if [ "${found_version:-0}" -gt "$java_version" ]; then
      java="$osier_candidate"
      java_version="$found_version"
      java_build="${found_build:-$found_version}"
    fi
  done
  if [ "$java_version" -lt "$osier_java_min" ]; then
    if [ -n "${OSIER_JAVA_HOME:-}" ]; then
      osier_fail "Java $osier_java_min or newer is needed; OSIER_JAVA_HOME names${osier_seen#,}"
    fi
    osier_fail "no Java of version $osier_java_min or newer was found (looked at OSIER_JAVA_HOME," \
      "JAVA_HOME, PATH, /usr/lib/jvm, /opt; saw${osier_seen:-, none}); install one, for example" \
      "the package temurin-25-jdk, or set OSIER_JAVA_HOME"
  fi
  java_options='--enable-native-access=ALL-UNNAMED'
  [ "$java_version" -lt 23 ] || java_options="$java_options --sun-misc-unsafe-memory-access=allow"
  [ "$java_version" -lt 25 ] || java_options="$java_options -XX:+UseCompactObjectHeaders"
  [ -t 0 ] || java_options="$java_options -Dosier.piped=true"
  [ ! -t 1 ] || java_options="$java_options -Dosier.terminal=true"
  # Java would keep addresses for 30 s, and for 10 s that there is none: a host that has moved is
  # found sooner.
  java_options="$java_options -Dsun.net.inetaddr.ttl=5 -Dsun.net.inetaddr.negative.ttl=1"
  # Without a language Java takes arguments for ASCII, and makes ? of every other character.
  case "${LC_ALL:-${LC_CTYPE:-${LANG:-C}}}" in
    C | POSIX)
      LC_ALL=C.UTF-8
      export LC_ALL
      ;;
  esac
}

# Options for commands that are over in a moment: what runs a few times is not compiled well, and
# what is not asked for is not loaded.
osier_brief_options='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xlog:disable'
osier_brief_options="$osier_brief_options -Dio.netty.jfr.enabled=false"

# The start cache holds the classes as the virtual machine has them in memory, and RocksDB's library
# unpacked, which saves more than half of a start. It is for exactly one Java and one class path, so
# it is made where it is used: by 'osier cache', or before the first start of a server. Where that is
# impossible, starts take longer and nothing else changes.
#
# $1: the folder it is in, off for none; the others: files and folders that are older than it. After:
# $cache_current, yes if it is there and newer than they are.
osier_find_cache() {
  cache_folder="$1"
  if [ "$java_version" -ge 25 ]; then
    cache="$cache_folder/java-$java_build.aot"
    cache_make=-XX:AOTCacheOutput cache_use=-XX:AOTCache
    cache_quiet='-Xlog:cds=off -Xlog:aot=off'
  else
    cache="$cache_folder/java-$java_build.jsa"
    cache_make=-XX:ArchiveClassesAtExit cache_use=-XX:SharedArchiveFile
    cache_quiet=-Xlog:cds=off # it has no log of the name aot, and would not start
  fi
  cache_current=''
  [ "$cache_folder" != off ] && [ -f "$cache" ] || return 0
  shift
  for osier_older in "$@"; do
    [ "$cache" -nt "$osier_older" ] || return 0
  done
  cache_current=yes
}

# The jars of folder $1 into $class_path, after what is in it, in one order wherever it is asked for: a
# start cache is for one class path. picocli is the first: no cache holds its classes, which are of an
# old format, and Java opens all jars in front of the one that has a class.
osier_add_jars() {
  osier_locale="${LC_ALL-unset}"
  LC_ALL=C
  for osier_jar in "$1"/picocli-*.jar "$1"/*.jar; do
    case "$class_path:" in
      *":$osier_jar:"*) ;;
      *) class_path="$class_path${class_path:+:}$osier_jar" ;;
    esac
  done
  if [ "$osier_locale" = unset ]; then unset LC_ALL; else LC_ALL="$osier_locale"; fi
}

# Makes it, and says on standard error what went wrong. Of several that do so at once one makes it,
# and the others have none for now.
osier_make_cache() {
  mkdir -p "$cache_folder" 2>/dev/null || {
    echo "osier: the folder $cache_folder cannot be written" >&2
    return 1
  }
  osier_lock="$cache_folder/making"
  if ! mkdir "$osier_lock" 2>/dev/null; then
    # Another start makes it, or one was killed at it. Moving it away succeeds only once.
    [ -n "$(find "$osier_lock" -prune -mmin +5 2>/dev/null)" ] || return 0
    mv "$osier_lock" "$osier_lock.$$" 2>/dev/null || return 0
    rm -rf "$osier_lock.$$"
    mkdir "$osier_lock" 2>/dev/null || return 0
  fi
  # A folder of its own: if this takes so long that another start takes over, neither disturbs the other.
  osier_work="$(mktemp -d "$osier_lock/XXXXXX")" || return 1
  trap 'osier_end_work' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  osier_made=''
  # Classes alone: what Java would note of the training's few calls decides for hours how well the
  # server's code is compiled. The training itself is not worth compiling well.
  # shellcheck disable=SC2086 # a list of options
  if OSIER_LOG=error OSIER_LOG_FORMAT=text "$java" $java_options "$cache_make=$osier_work/cache" \
    -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining \
    -XX:TieredStopAtLevel=1 -Xmx256m "-Dosier.native.dir=$cache_folder" -cp "$class_path" "$main" \
    train "$osier_work/data" >"$osier_work/log" 2>&1 && [ -f "$osier_work/cache" ]; then
    mv "$osier_work/cache" "$cache" && osier_made=yes cache_current=yes
    for osier_other in "$cache_folder"/java-*; do # of another Java
      [ "$osier_other" = "$cache" ] || rm -f "$osier_other"
    done
  elif [ -d "$osier_work" ]; then
    grep -i -E '^(error|exception)' "$osier_work/log" >&2 || tail -n 5 "$osier_work/log" >&2 || true
  fi
  osier_end_work
  trap - EXIT INT TERM
  [ -n "$osier_made" ]
}

osier_end_work() {
  rm -rf "$osier_work"
  rmdir "$osier_lock" 2>/dev/null || true
}

# Makes it if it is not there, and could be: for what starts servers.
osier_refresh_cache() {
  [ "$cache_folder" != off ] && [ -z "$cache_current" ] || return 0
  mkdir -p "$cache_folder" 2>/dev/null && [ -w "$cache_folder" ] || return 0
  echo "osier: the first start with this Java: a start cache is made in $cache_folder" >&2
  osier_make_cache || echo "osier: no start cache could be made; starts take longer without" >&2
}

# Becomes the program, with the arguments; OSIER_JAVA_OPTIONS are the last that Java is given. Java
# compares the cache with its checksums: it would crash with a damaged one.
osier_exec() {
  # shellcheck disable=SC2086 # lists of options
  if [ -n "$cache_current" ]; then
    exec "$java" $java_options "$cache_use=$cache" -XX:+VerifySharedSpaces $cache_quiet \
      "-Dosier.native.dir=$cache_folder" ${OSIER_JAVA_OPTIONS:-} \
      -cp "$class_path" "$main" "$@"
  fi
  # shellcheck disable=SC2086
  exec "$java" $java_options ${OSIER_JAVA_OPTIONS:-} -cp "$class_path" "$main" "$@"
}
