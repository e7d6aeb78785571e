// A mail server as fast as one can be: it accepts every email immediately and keeps only its recipient. Its first message is its port; the
// reply to any message is the list of recipients since the last one.
import { type AddressInfo, createServer } from 'node:net';

let recipients: string[] = [];

const server = createServer((socket) => {
  let heard = '';
  let isMail = false;
  let to = '';
  socket.setNoDelay(true).on('error', () => {});
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    heard += chunk;
    for (;;) {
      const end = isMail ? heard.indexOf('\r\n.\r\n') : heard.indexOf('\r\n');
      if (end < 0) return;
      const line = heard.slice(0, end);
      heard = heard.slice(end + (isMail ? 5 : 2));
      if (isMail) {
        recipients.push(to);
        isMail = false;
        socket.write('250 accepted\r\n');
        continue;
      }
      const [, address] = /^RCPT TO:<(.*)>/i.exec(line) ?? [];
      to = address ?? to;
      isMail = /^DATA/i.test(line);
      socket.write(isMail ? '354 go on\r\n' : /^QUIT/i.test(line) ? '221 bye\r\n' : '250 fine\r\n');
    }
  });
  socket.write('220 sink\r\n');
});

process.on('message', () => {
  process.send?.(recipients);
  recipients = [];
});
process.once('disconnect', () => process.exit()); // the parent process has ended
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
