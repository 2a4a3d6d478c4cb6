# Sourced from the project's root: -h or --help prints the comment at the head of the script.
case "${1:-}" in
  -h|--help) sed -n '2,${/^#/!q; s/^# \{0,1\}//p}' "scripts/$(basename "$0")"; exit 0 ;;
esac
