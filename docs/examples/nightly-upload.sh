#!/bin/sh
# Every night: takes the list that the HR system has written, and puts it into Soundings by SFTP.
# Needs OpenSSH's sftp, and sshpass. Run it from cron as a user who alone may read the file with the token:
#   15 2 * * *  /opt/hr/nightly-upload.sh /var/export/users.csv
set -eu

host=${SOUNDINGS_HOST:-surveys.example.com}
port=${SOUNDINGS_PORT:-22}
user=${SOUNDINGS_USER:-example-ltd-2}                             # the SFTP user name of the account
token_file=${SOUNDINGS_TOKEN_FILE:-/etc/soundings/token}          # a token with the scope files, chmod 600
known_hosts=${SOUNDINGS_KNOWN_HOSTS:-/etc/soundings/known_hosts}  # made once, with ssh-keyscan, and compared
file=$1

# The name under which it arrives counts: the same name every night is a new version of the same list. It gets that name when
# it is whole: a transfer that is interrupted must not pass for a shorter list.
SSHPASS=$(cat "$token_file") sshpass -e sftp -q -P "$port" \
  -o BatchMode=no -o PubkeyAuthentication=no \
  -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$known_hosts" \
  -b - "$user@$host" <<COMMANDS
put "$file" users.csv.part
rename users.csv.part users.csv
COMMANDS
