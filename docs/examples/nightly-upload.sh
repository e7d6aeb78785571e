#!/bin/sh
# Uploads the list that the HR system exported to Soundings by SFTP, every night.
# Needs OpenSSH's sftp and sshpass. Run it from cron as the only user who can read the token file:
#   15 2 * * *  /opt/hr/nightly-upload.sh /var/export/users.csv
set -eu

host=${SOUNDINGS_HOST:-surveys.example.com}
port=${SOUNDINGS_PORT:-22}
user=${SOUNDINGS_USER:-example-ltd-2}                             # the SFTP user name of the account
token_file=${SOUNDINGS_TOKEN_FILE:-/etc/soundings/token}          # a token with the scope files, chmod 600
known_hosts=${SOUNDINGS_KNOWN_HOSTS:-/etc/soundings/known_hosts}  # created once with ssh-keyscan, and verified
file=$1

# Use the same name every night: each upload is a new version of the same list. The file is renamed when it is complete, so
# that an interrupted transfer does not count as a shorter list.
SSHPASS=$(cat "$token_file") sshpass -e sftp -q -P "$port" \
  -o BatchMode=no -o PubkeyAuthentication=no \
  -o StrictHostKeyChecking=yes -o UserKnownHostsFile="$known_hosts" \
  -b - "$user@$host" <<COMMANDS
put "$file" users.csv.part
rename users.csv.part users.csv
COMMANDS
