// What the commands of the operators' guide talk to: a mail server that accepts everything, and a gateway for text messages.
import { createServer } from 'node:http';
import { SMTPServer } from 'smtp-server';

const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, done) {
    stream.on('end', done).resume();
  },
});
mail.listen(2525, '127.0.0.1');
const gateway = createServer((request, response) =>
  request.on('end', () => response.writeHead(204).end()).resume(),
);
gateway.listen(9000, '127.0.0.1', () => process.stdout.write('Ready\n'));
