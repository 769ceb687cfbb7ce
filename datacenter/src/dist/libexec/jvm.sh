# Finds a Java runtime and what options it takes. Read by bin/osier of the distribution and by the
# repository's osier, which are thereby the same; plain sh, and few processes, since it is part of
# every start.
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

# Options for commands that are over in a moment: what runs a few times is not compiled.
osier_brief_options='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable'
