// docs/operators, with the installed package: under systemd, with the embedded database and with Debian's PostgreSQL.
import { existsSync, globSync } from 'node:fs';
import { follow, isDone, lacks, runAsWritten, startAsWritten } from './follow.js';
import { until } from './terminals.js';

const dataDir = '/var/lib/soundings';
const settings = '/etc/soundings/soundings.env';
/** A problem is not a failure of the command: here it is that no proxy and no DNS is there. */
const doctor = { status: [0, 1], prints: /^OK +database/m };
/** The mail server accepts the email. There is no DNS to look into. */
const mailTest = { status: [0, 1], prints: /^OK +Delivery/m };

/**
 * Runs the commands of the operators' guide on a machine. `directory`: a clone with the built package in `out`. `commands`: of all documents.
 */
export async function followOperators(machine, directory, commands) {
  const named = (...names) =>
    names.flatMap((name) => commands.filter(({ document }) => document.endsWith(`/${name}`)));
  const root = machine.terminal(directory, { environment: { npm_config_offline: 'true' } });
  const must = async (text, options) => {
    const { status, output } = await root.run(text, options);
    if (status !== 0) throw new Error(`${text}\nended with ${status} and printed:\n${output}`);
    return output;
  };
  const place = { machine, directory, root, must };
  const [installing, external] = [named('installing.md'), named('postgres.md', 'upgrade.md')];
  const embedded = named('backup.md', 'operations.md', 'troubleshooting.md');
  // Documents that are not named here as well.
  const others = commands.filter((one) => ![...installing, ...external, ...embedded].includes(one));
  await followInstalling(place, installing);
  await prepare(place);
  await followOperating(place, [...embedded, ...others]);
  await followPostgres(place, external);
}

/** Runs as root: first without systemd, in the directory of the clone, then with it. */
async function followInstalling({ machine, directory, root, must }, commands) {
  const isReady = () => must('until curl -fsS http://127.0.0.1:8080/health/ready; do sleep 0.2; done');
  await follow(
    commands,
    [
      [
        /^soundings start$/,
        async (command) => {
          const other = machine.terminal(directory);
          await startAsWritten(command, other, /\/setup#/);
          await other.interrupt();
        },
      ],
      [/journalctl/, (command) => runAsWritten(command, root, { prints: /\/setup#/ })],
      [
        /^PUBLIC_URL=/,
        async (command) => {
          await must(`cat >${settings}`, { input: command.text });
          isDone(command);
        },
      ],
      [
        /^systemctl (re)?st(art|op) soundings$/,
        async (command) => {
          await runAsWritten(command, root);
          await must('systemctl start soundings');
          await isReady();
        },
      ],
      // README.md has the same command, on the other machine.
      [/^npm run release$/, async (command) => isDone(command)],
    ],
    (command) => runAsWritten(command, root),
  );
  await must('systemctl restart soundings');
  await isReady();
}

/** Returns a terminal of the service's user, with the settings of the service. */
const operator = ({ machine }, environment = {}) =>
  machine.terminal(`${dataDir}/work`, {
    user: 'soundings',
    environment: {
      DATA_DIR: dataDir,
      PUBLIC_URL: 'https://surveys.example.com',
      TRUST_PROXY: '127.0.0.1,::1',
      SMTP_URL: 'smtp://mail.example.com:2525?insecure',
      MAIL_FROM: 'surveys@example.com',
      npm_config_offline: 'true',
      ...environment,
    },
  });

/** Creates what the documents speak of: an account with people, a mail server, and folders. */
async function prepare(place) {
  const { must, directory, machine } = place;
  await must(`install -d -o soundings -g soundings ${dataDir}/work /backups`);
  const servers = machine.terminal('/srv/checks');
  servers.type('node .ci/documents/servers.js');
  await until('Starting a mail server', 120, () => servers.printed().includes('Ready'));
  const terminal = operator(place);
  const line = async (text) => {
    const { status, output } = await terminal.run(text);
    if (status !== 0) throw new Error(`${text}: ${output}`);
    return output;
  };
  await line('npx soundings account create --name "Example Ltd" --admin-email ada@example.com');
  const create = 'npx soundings token create --account 1 --name hr --scope organization --json';
  const { token } = JSON.parse(await line(create));
  const example = `${directory}/docs/examples/organization.json`;
  const push = `curl -fsS http://127.0.0.1:8080/v1/organization/organization -H "Authorization: ${token}" \\
    -H "Content-Type: application/json" --data-binary @-`;
  await line(`sed 's/"validateOnly": true/"validateOnly": false/' ${example} | ${push}`);
}

/** Runs the other documents, each section in a new terminal of the service's user. */
async function followOperating(place, commands) {
  const { root } = place;
  let [section, terminal] = ['', undefined];
  const here = ({ document, heading }) => {
    if (section !== document + heading) terminal = operator(place);
    section = document + heading;
    return terminal;
  };
  const json = async (at, text) => JSON.parse((await at.run(`${text} --json`)).output);
  const restored = () => operator(place, { DATA_DIR: `${dataDir}/work/restored` });
  const run = (options) => (command) => runAsWritten(command, here(command), options);
  const asRoot = (command) => runAsWritten(command, root);
  await follow(
    commands,
    [
      ...configurations(place),
      [/^(journalctl|systemctl) /, asRoot],
      [/doctor$/, run(doctor)],
      [/^npm install --prefix \/opt|^tar |^set -a;/, asRoot],
      [
        /remove-process --name NAME/,
        async (command) => {
          const { processes } = await json(restored(), 'npx soundings keys show');
          const fill = { NAME: processes.find(({ name }) => !name.includes('restored')).name };
          await runAsWritten(command, restored(), { fill });
        },
      ],
      [/OLD_DATA_DIR/, (command) => runAsWritten(command, restored(), { fill: { OLD_DATA_DIR: dataDir } })],
      [/^npx soundings keys import/, (command) => runAsWritten(command, restored())],
      [
        /--last POSITION:HASH/,
        async (command) => {
          const [{ last }] = await json(here(command), 'npx soundings audit verify');
          const fill = { ID: '1', 'POSITION:HASH': `${last.position}:${last.hash}` };
          await runAsWritten(command, here(command), { fill });
        },
      ],
      [/--account ID/, run({ fill: { ID: '1' } })],
      [/^npx soundings password set/, run({ input: 'Correct-Horse-Battery-77' })],
      [/^npx soundings mail test/, run(mailTest)],
      [
        /^npx soundings sms test/,
        async (command) => {
          const gateway = 'SMS_PROVIDER=webhook SMS_URL=http://127.0.0.1:9000';
          await here(command).run(`export ${gateway}`);
          await runAsWritten(command, here(command));
        },
      ],
      [
        /^export (IMAP_URL|DKIM)/,
        async (command) => {
          await runAsWritten(command, here(command));
          const { output } = await here(command).run('npx soundings doctor');
          if (/^Problem +settings/m.test(output)) throw new Error(output);
        },
      ],
    ],
    run(),
  );
}

/** Returns the program if this machine has it. */
const has = (program) => ['/usr/bin', '/usr/sbin'].some((folder) => existsSync(`${folder}/${program}`));

/** Returns the handlers for configuration files of other programs, and for what these read. */
export function configurations({ root, must, directory }) {
  /** Checks a file with its program, after the preparation. */
  const checked = (program, file, check) => async (command) => {
    if (!has(program)) return lacks(command, program);
    await must(`install -d /etc/haproxy /etc/rsyslog /etc/soundings && cat >${file}`, {
      input: command.text,
    });
    await must(check);
    return isDone(command);
  };
  const key = (folder, keyFile, certificate) =>
    `openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=logs.example.com -keyout ${folder}/${keyFile} -out ${folder}/${certificate} 2>&1`;
  return [
    [
      /^defaults\n/,
      checked(
        'haproxy',
        '/tmp/haproxy.cfg',
        `${key('/etc/haproxy', 'key.pem', 'surveys.crt')} && cat /etc/haproxy/{surveys.crt,key.pem} >/etc/haproxy/surveys.pem && haproxy -c -f /tmp/haproxy.cfg`,
      ),
    ],
    [
      /^module\(load="imtcp"/,
      checked(
        'rsyslogd',
        '/tmp/rsyslog.conf',
        `${key('/etc/rsyslog', 'key.pem', 'cert.pem')} && cp /etc/rsyslog/{cert,ca}.pem && rsyslogd -N1 -f /tmp/rsyslog.conf`,
      ),
    ],
    [
      /^AUDIT_SYSLOG=/,
      async (command) => {
        await must(key('/etc/soundings', 'logs-key.pem', 'logs-ca.pem'));
        await must('cat >/tmp/audit.env', { input: command.text });
        const { output } = await root.run('set -a; . /tmp/audit.env; set +a; npx soundings doctor');
        if (!/^OK +settings/m.test(output)) throw new Error(output);
        isDone(command);
      },
    ],
    [
      /^promtool /,
      async (command) => {
        if (!has('promtool')) return lacks(command, 'promtool');
        const monitoring = `${directory}/docs/operators/monitoring`;
        await must(
          `install -d /etc/prometheus && cp ${monitoring}/* /etc/prometheus && cd /etc/prometheus && echo token >soundings-token`,
        );
        await runAsWritten(command, root);
        return must(`cd ${directory}`);
      },
    ],
    [
      /^\{\n/,
      async (command) => {
        JSON.parse(command.text);
        isDone(command);
      },
    ],
  ];
}

const bin = () => globSync('/usr/lib/postgresql/*/bin').toSorted().at(-1);

/** Starts Debian's PostgreSQL on the host and port of the documents. */
async function followPostgres(place, commands) {
  const folder = bin();
  if (folder === undefined) {
    for (const command of commands) lacks(command, 'postgresql');
    return;
  }
  const { must, root } = place;
  const as = 'setpriv --reuid=postgres --regid=postgres --init-groups --reset-env';
  await must(`install -d -o postgres /srv/postgres && cd /srv/postgres &&
    ${as} ${folder}/initdb -D data -U postgres --auth-local=trust --auth-host=scram-sha-256 -E UTF8 --locale=C.UTF-8 -N >/dev/null &&
    ${as} ${folder}/pg_ctl -D data -w -l data/log -o "-c listen_addresses=* -c unix_socket_directories=/tmp -c fsync=off" start >/dev/null`);
  const terminal = operator(place);
  const usable = async () => {
    await terminal.run('npx soundings migrate');
    const { output } = await terminal.run('npx soundings doctor');
    if (!/^OK +database/m.test(output)) throw new Error(output);
  };
  await follow(
    commands,
    [
      [
        /^(create|alter) role|^select /,
        async (command) => {
          await must('psql -qX -h /tmp -U postgres -v ON_ERROR_STOP=1', { input: command.text });
          isDone(command);
        },
      ],
      [
        /^export DATABASE_URL/,
        async (command) => {
          await runAsWritten(command, terminal);
          await usable();
        },
      ],
      [
        /^\[databases\]/,
        async (command) => {
          if (!has('pgbouncer')) return lacks(command, 'pgbouncer');
          await must('echo "host all soundings 10.0.0.5/32 trust" >>data/pg_hba.conf');
          await must(`psql -qX -h /tmp -U postgres -c 'select pg_reload_conf()'`);
          const more =
            'listen_addr = 127.0.0.1\nlisten_port = 6432\nauth_type = trust\nauth_file = users\nlogfile = log\npidfile = pid\n';
          await must(`echo '"soundings" ""' >users`);
          await must('cat >pgbouncer.ini', { input: command.text + more });
          await must(`${as} /usr/sbin/pgbouncer -d pgbouncer.ini`);
          await terminal.run(
            'export DATABASE_URL_DIRECT=$DATABASE_URL DATABASE_URL=postgres://soundings@127.0.0.1:6432/soundings',
          );
          await usable();
          return isDone(command);
        },
      ],
      // What the program prints.
      [/^The database was migrated by a newer version/, async (command) => isDone(command)],
    ],
    (command) => runAsWritten(command, terminal),
  );
  await root.run('pkill pgbouncer');
}
