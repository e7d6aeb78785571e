// Opens idle SFTP sessions, in a separate process. Arguments: port, user name and token. Each message says how many sessions to
// open. The process ends with its parent process. It opens as many sessions at a time as one address can.
import { connect } from 'node:net';
import { Client } from 'ssh2';

const [port = '', username = '', password = ''] = process.argv.slice(2);
const atOnce = 20;
const clients: Client[] = [];

process.once('disconnect', () => process.exit());
process.on('message', (message: { open?: number; close?: true }) => {
  void (message.close ? close() : open(message.open ?? 0)).then(() => process.send?.('done'));
});
process.send?.('ready');

async function open(count: number): Promise<void> {
  for (let done = 0; done < count; done += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - done) }, () => openOne());
    clients.push(...(await Promise.all(some)));
  }
}

/** Uses many addresses, because the number per address is limited. */
function openOne(): Promise<Client> {
  const localAddress = `127.0.2.${1 + (clients.length % 200)}`;
  const sock = connect({ host: '127.0.0.1', port: Number(port), localAddress, noDelay: true });
  const client = new Client();
  return new Promise((resolve, reject) => {
    client.once('error', reject);
    client.once('ready', () => client.sftp((error) => (error ? reject(error) : resolve(client))));
    client.connect({ sock, username, password });
  });
}

async function close(): Promise<void> {
  for (const client of clients.splice(0)) client.end();
}
