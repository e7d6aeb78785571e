// The lines of an SMTP connection, for the test of the email settings, which names the step that fails. Emails themselves are sent by
// mailer.ts.
import type { Socket } from 'node:net';

/** A reply of the server: its code, and its text in one line, without characters that could change how it is shown. */
export type Reply = { code: number; text: string; lines: string[] };

/** The server ended the connection, stayed silent or didn't speak SMTP. */
export class DialogEnded extends Error {
  override readonly name = 'DialogEnded';
  readonly isSilent: boolean;
  constructor(reason: string, isSilent: boolean) {
    super(reason);
    this.isSilent = isSilent;
  }
}

export type Dialog = {
  /** Returns the next reply. */
  reply(): Promise<Reply>;
  /** Sends a line and returns the reply to it. */
  say(line: string): Promise<Reply>;
  /** Stops reading, so that TLS can take over the connection. Returns whether the server has already sent something more. */
  detach(): boolean;
};

/** The most that a server may send without ending its reply. */
const maxReplyBytes = 64 * 1024;

/** Returns the dialog on a connected socket. Each reply must arrive within `timeoutMs`. Rejects with DialogEnded. */
export function openDialog(socket: Socket, timeoutMs: number): Dialog {
  let received = '';
  let ended: DialogEnded | undefined;
  let wake = () => {};
  const end = (reason: string, isSilent = false) => {
    ended ??= new DialogEnded(reason, isSilent);
    wake();
  };
  const onData = (chunk: Buffer) => {
    received += chunk.toString('latin1');
    if (received.length > maxReplyBytes) end('the reply is too long');
    wake();
  };
  const onError = (error: Error) => end(plainReason(error));
  const onClose = () => end('the connection was closed');
  socket.on('data', onData).on('error', onError).on('close', onClose);

  async function reply(): Promise<Reply> {
    const timer = setTimeout(() => end(`no reply within ${timeoutMs / 1000} s`, true), timeoutMs);
    try {
      for (;;) {
        const found = /^(?:\d{3}-[^\n]*\n)*\d{3}(?![-\d])[^\n]*\n/.exec(received)?.[0];
        if (found !== undefined) {
          received = received.slice(found.length);
          return parsed(found);
        }
        if (/^(?!\d{3})[^\n]{3}|^\d{0,2}[^\d]/.test(received)) throw new DialogEnded(asLine(received), false);
        if (ended) throw ended;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    reply,
    async say(line) {
      socket.write(`${line}\r\n`);
      return reply();
    },
    detach() {
      socket.off('data', onData).off('error', onError).off('close', onClose);
      return received !== '';
    },
  };
}

function parsed(text: string): Reply {
  const lines = text.trimEnd().split(/\r?\n/);
  return {
    code: Number(text.slice(0, 3)),
    text: asLine(`${text.slice(0, 3)} ${lines.map((line) => line.slice(4)).join(' ')}`),
    lines: lines.map((line) => line.slice(4)),
  };
}

/** Returns a text of the server as one short line without control characters. */
export function asLine(text: string): string {
  const line = text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  return line.length <= 300 ? line : `${line.slice(0, 300).toWellFormed()}…`;
}

/** Returns why a connection failed, in words. */
export function plainReason(error: Error & { code?: string }): string {
  const reasons: Record<string, string> = {
    ECONNRESET: 'the connection was reset',
    EPIPE: 'the connection was closed',
    EHOSTUNREACH: 'there is no route to it',
    ENETUNREACH: 'its network is unreachable',
    ETIMEDOUT: 'it did not respond',
  };
  return reasons[error.code ?? ''] ?? asLine(error.message);
}
