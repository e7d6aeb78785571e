// README.md, on a fresh clone: the checkout, the package, and the first survey in ten minutes.
import { follow, runAsWritten, startAsWritten } from './follow.js';

const isFirstPage = /\/setup#/;

/** Runs the commands of the README on a machine. `directory`: the clone. */
export async function followReadme(machine, directory, commands) {
  const terminal = machine.terminal(directory);
  const offline = { npm_config_offline: 'true' };
  /** Runs a command until the page of the first sign-in is there, and stops it with Ctrl-C. */
  const untilFirstPage = async (command) => {
    const other = machine.terminal(directory, { environment: offline });
    await startAsWritten(command, other, isFirstPage);
    const { output } = await terminal.run('curl -sS http://127.0.0.1:8080/');
    await other.interrupt();
    if (!output.includes('<title>Soundings</title>'))
      throw new Error(`The page is not the console: ${output}`);
  };
  let demo;
  const tokenOfDemo = () => /API token +(\S+)/.exec(demo)?.[1];
  // The second terminal sees failed requests, which curl -s doesn't show.
  await terminal.run('echo fail-with-body >>~/.curlrc');

  await follow(
    commands,
    [
      [/^npm ci && npm start/, untilFirstPage],
      [/^npm install .*soundings start$/, untilFirstPage],
      [
        /^npm run demo$/,
        async (command) => {
          demo ??= await startAsWritten(command, machine.terminal(directory), /Answering page/);
        },
      ],
      [
        /^export TOKEN=/,
        async (command) => {
          const scopes = '--scope data --scope organization --scope files';
          const create = `npx soundings token create --account 2 --name first ${scopes} --json`;
          const { token } = JSON.parse((await terminal.run(create)).output);
          await runAsWritten(command, terminal, { fill: { 'snd_…': token } });
        },
      ],
      [/^curl .*organization/, (command) => runAsWritten(command, terminal, { prints: /"created": ?[1-9]/ })],
      [/^sed .*organization/, (command) => runAsWritten(command, terminal, { prints: /"created": ?[1-9]/ })],
      [/^curl .*groups /, (command) => runAsWritten(command, terminal, { prints: /"id": ?61,/ })],
      [/week show/, (command) => runAsWritten(command, terminal, { prints: /people asked/, seconds: 300 })],
      [/links export/, (command) => runAsWritten(command, terminal, { prints: /\/a\// })],
      [
        /^curl .*(values|feed)/,
        async (command) => {
          await terminal.run(`export TOKEN=${tokenOfDemo()}`);
          await runAsWritten(command, terminal);
        },
      ],
    ],
    (command) => runAsWritten(command, terminal),
  );
}
