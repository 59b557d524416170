#!/bin/bash
# What scripts/tools/vmtest.ts runs inside its machine, as root, at every boot: the card and the service first, then a reboot, then
# whether the service came back. Lines that begin with "ok" or "fault" are findings; what is to be kept goes to the second disk.

given=/opt/vmtest
results=/var/lib/vmtest
mkdir -p "$results"
exec > >(tee -a "$results/findings.txt" > /dev/console) 2>&1

# Seconds since the boot, by this machine's clock.
now() { cut -d' ' -f1 /proc/uptime; }
# found NAME DETAIL COMMAND...: reports whether the command succeeded, and how long it took.
found() {
  local name=$1 started; started=$(now); shift
  if "$@"; then word=ok; else word=fault; fi
  echo "$word $name ($(echo "$(now) $started" | awk '{ printf "%.1f", $1 - $2 }') s)"
}
is_ready() {
  timeout 10 bash -c 'exec 3<>/dev/tcp/127.0.0.1/3000 &&
    printf "GET /ready HTTP/1.0\r\nHost: localhost\r\n\r\n" >&3 && head -n 1 <&3 | grep -q " 200 "' 2> /dev/null
}
until_ready() { for ((i = 0; i < 600; i++)); do is_ready && return; sleep 0.2; done; return 1; }
unit() { systemctl show cardpress --value --property="$1"; }

# The steps at the beginning of each file of deploy/.
install_service() {
  useradd --system --home-dir /var/lib/cardpress --shell /usr/sbin/nologin cardpress &&
    install -D -m 640 -g cardpress "$given/deploy/cardpress.env" /etc/cardpress/cardpress.env &&
    install -m 644 "$given/deploy/cardpress.service" /etc/systemd/system/cardpress.service &&
    install -m 755 "$given/deploy/cardpressctl" /usr/local/bin/cardpressctl &&
    systemd-analyze verify /etc/systemd/system/cardpress.service &&
    systemctl daemon-reload && systemctl enable --now cardpress
}
make_card() {
  cd /home/ordinary && runuser -u ordinary -- /usr/local/bin/cardpress demo --once &&
    find demo-data/images -name '*.png' -exec cp {} "$results/card.png" \;
}
kill_server() {
  local before after; before=$(unit MainPID); kill -9 "$before"
  for ((i = 0; i < 300; i++)); do
    after=$(unit MainPID)
    [[ $after != 0 && $after != "$before" ]] && return; sleep 0.1
  done
  return 1
}
# A crash between the kills would be repaired by systemd unseen.
ended_only_when_killed() { [[ $(unit NRestarts) == 3 ]]; }
came_back() { until_ready && [[ $(unit NRestarts) == 0 ]]; }

if [[ ! -e $results/boots ]]; then
  touch "$results/boots"
  install -m 755 "$given/cardpress" /usr/local/bin/cardpress
  useradd --create-home ordinary
  echo "$(uname -m), Linux $(uname -r), $(stat -fc %T /sys/fs/cgroup), up $(now) s"
  found "cardpress version" cardpress version
  found "a card, as an ordinary user" make_card
  found "the unit installs" install_service
  found "the service is ready" until_ready
  cardpressctl doctor
  for kill in 1 2 3; do
    found "kill -9 number $kill: started again" kill_server
    found "kill -9 number $kill: ready again" until_ready
  done
  found "it ended only when killed" ended_only_when_killed
  journalctl --unit cardpress --output short-monotonic > "$results/journal.txt"
  echo "reboot"; sleep 1
  systemctl reboot
else
  found "the service comes back after a reboot" came_back
  echo "end"; sleep 1
  tar -cf /dev/vdb -C "$results" .
  systemctl poweroff
fi
