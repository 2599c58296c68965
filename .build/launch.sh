# Sourced by ./demo and ./bench: builds faster-bench with Maven when a source file has changed since
# the last time, and knows the JDK 25 that Maven's toolchain discovery has found, which need not be
# the default java. Expects the project's directory in $home; sets $target, and $java after `ready`.

target=$home/faster-bench/target
modules=(faster-core faster-flink-backend faster-bench)

# The stamp is as old as the start of the last build that succeeded.
stamp=$target/run.stamp

is_built() {
  [[ -f $stamp && -s $target/run.args && -s $target/java-home.txt ]] || return 1
  [[ -x $(<"$target/java-home.txt")/bin/java ]] || return 1
  local inputs=("$home/pom.xml") module
  for module in "${modules[@]}"; do
    [[ -d $home/$module/target/classes || ! -d $home/$module/src/main/java ]] || return 1
    inputs+=("$home/$module/pom.xml")
    [[ ! -d $home/$module/src/main ]] || inputs+=("$home/$module/src/main")
  done
  [[ -z $(find "${inputs[@]}" -newer "$stamp" -print -quit) ]]
}

build() {
  if ! command -v mvn >/dev/null; then
    echo "Maven is missing: install mvn 3.8.7 or later" >&2
    return 1
  fi
  echo "Building (the first time Maven fetches Flink, which takes a few minutes) ..." >&2
  local log=$target/run.log
  touch "$stamp.new"
  if ! mvn -q -B -f "$home/pom.xml" -pl faster-bench -am -DskipTests process-classes \
      >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
  mv "$stamp.new" "$stamp"
}

# One build at a time, where the system has flock.
build_once() {
  mkdir -p "$target"
  if command -v flock >/dev/null; then
    exec 9>"$target/run.lock"
    flock 9
  fi
  is_built || build || return 1
  exec 9>&-
}

# Builds if need be, or ends the script.
ready() {
  is_built || build_once || exit 1
  java=$(<"$target/java-home.txt")/bin/java
}
