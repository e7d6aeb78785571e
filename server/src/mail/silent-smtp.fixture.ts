// A mail server for tests that receives whole emails but doesn't confirm some of them.
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type SilentSmtp = {
  url: string;
  /** The recipient of each email that was received completely, in order. */
  got: string[];
  close(): Promise<void>;
};

/** What the server does after an email to an address: confirms it, closes the connection, or stays silent. */
export type SmtpBehaviour = (to: string) => 'takes' | 'hangs up' | 'silent';

export async function openSilentSmtp(behaviour: SmtpBehaviour): Promise<SilentSmtp> {
  const got: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    let [heard, to, isMail] = ['', '', false];
    const hear = (line: string) => {
      if (isMail && line !== '.') return;
      if (isMail) {
        isMail = false;
        got.push(to);
        const reaction = behaviour(to);
        if (reaction === 'takes') socket.write('250 taken\r\n');
        else if (reaction === 'hangs up') socket.destroy();
        return;
      }
      to = /^RCPT TO:<(.*)>/.exec(line)?.[1] ?? to;
      isMail = line === 'DATA';
      socket.write(isMail ? '354 send it\r\n' : '250 fine\r\n');
    };
    socket.on('data', (chunk: Buffer) => {
      const lines = (heard + chunk.toString('latin1')).split('\r\n');
      heard = lines.pop() as string;
      for (const line of lines) hear(line);
    });
    socket.write('220 hello\r\n');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}
