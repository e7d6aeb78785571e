// An email as nodemailer's connection pool sends it (its "transport API"): the envelope, and the bytes as a stream that knows how far it
// was read. nodemailer's own objects do the same with a tree of parts and several streams for each email.
import MimeNode from 'nodemailer/lib/mime-node';
import type SMTPPool from 'nodemailer/lib/smtp-pool';
import { Readable } from 'node:stream';

/**
 * `isSent`: the last bytes of the email were sent. Before that, no server can have accepted it. `withdrawn`: why it was not sent to its
 * end.
 */
export type Progress = {
  isSent: boolean;
  beforeEnd: (() => Promise<void>) | undefined;
  withdrawn: { reason: unknown } | undefined;
};

export type Envelope = { from: string | false; to: string[] };

/** Addresses that are the same in a header and in the envelope. */
const plainAddress = /^[\w.+-]+@[a-z\d.-]+$/;

/** Returns the envelope. nodemailer writes international addresses as the server expects them. */
export function envelopeOf(from: string, to: string): Envelope {
  if (plainAddress.test(from) && plainAddress.test(to)) return { from, to: [to] };
  return new MimeNode('text/plain')
    .setEnvelope({ from, to: { name: '', address: to } })
    .getEnvelope() as Envelope;
}

type PoolMail = Parameters<SMTPPool['send']>[0];

/** Returns what the pool sends. It reads the email from the beginning for each attempt, which it makes only if the last one read nothing. */
export function transferOf({
  messageId,
  envelope,
  email,
  progress,
}: {
  messageId: string;
  envelope: Envelope;
  email: Buffer;
  progress: Progress;
}): PoolMail {
  const transfer = {
    // A returned email should have no text, because the text contains a link that only the recipient should see.
    data: { dsn: { return: 'headers', notify: 'failure' } },
    message: {
      getEnvelope: () => envelope,
      getHeader: () => messageId,
      messageId: () => messageId,
      createReadStream: () => new Transfer(email, progress),
    },
  };
  // All that the pool reads of an email; its type is the class with which nodemailer builds one.
  return transfer as unknown as PoolMail;
}

/** How many bytes of an email are sent at a time. */
const chunkBytes = 256 * 1024;

/**
 * An email as a stream that never reads ahead. When the connection asks for more after the last bytes, calls `beforeEnd` and sets `isSent`.
 * If the email is withdrawn, the stream fails, and the connection is closed without the end of the email.
 */
class Transfer extends Readable {
  readonly #email: Buffer;
  readonly #progress: Progress;
  #at = 0;

  constructor(email: Buffer, progress: Progress) {
    super({ highWaterMark: 1 });
    this.#email = email;
    this.#progress = progress;
  }

  override _read(): void {
    if (this.#at < this.#email.length) {
      this.push(this.#email.subarray(this.#at, (this.#at += chunkBytes)));
      return;
    }
    const { beforeEnd } = this.#progress;
    if (!beforeEnd) return this.#end();
    beforeEnd().then(
      () => this.#end(),
      (reason: unknown) => {
        this.#progress.withdrawn = { reason };
        this.destroy(reason instanceof Error ? reason : new Error('The email was withdrawn'));
      },
    );
  }

  #end(): void {
    this.#progress.isSent = true;
    this.push(null);
  }
}
