// The commands of the documents that can't run here, each with the reason and with what tries it instead.

/** @type {[pattern: RegExp, reason: string][]} */
export const notHere = [
  [/^npm ci && npm test/, 'It runs the whole test suite. .ci/run does that itself.'],
  [
    /^docker (build|run|logs|exec|stop) /,
    'It needs Docker. .ci/image builds the same image, starts it with the same restrictions and runs commands in it.',
  ],
  [
    /^docker compose /,
    'It needs Docker. .ci/deploy lets Docker Compose read the file, and .ci/image starts the service of it.',
  ],
  [
    /^(kubectl|helm) /,
    'It needs a cluster. .ci/deploy renders the chart and validates each object against the schemas of Kubernetes.',
  ],
  [
    /\| age -r /,
    'It needs a recipient’s key. The same backup to standard output is in a test of the backup command.',
  ],
  [
    /^ssh first /,
    'It needs a second machine. Tests of the keys command send keys between two data directories.',
  ],
  [/postgres --single /, 'It changes the superuser’s password, which an installation has none of.'],
  [
    /^npx soundings week close --account 1$/,
    'It needs a week that has ended, and the service closes those itself. README.md has the same command with a week.',
  ],
  [
    /^npx soundings run approve /,
    'It needs a file that waits for approval. A test of the command approves one.',
  ],
  [/^\[databases\]\n/, 'It is for PgBouncer. Tests run the service behind PgBouncer with such a file.'],
  [
    /^(create extension citus|(npx )?soundings database distribute$)/,
    'It needs Citus, which Debian does not have. citus.running.test.ts distributes a database where it is installed.',
  ],
  [/^npm run fix$/, 'It is for people who change the code.'],
  [/^npx soundings (user create --role Auditor|history import)$/, 'It only names the command.'],
  [/^helm upgrade$/, 'It only names the command.'],
];
