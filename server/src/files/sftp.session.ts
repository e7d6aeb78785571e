// The SFTP sessions of one connection: channels in, answers out, strictly in the order of the requests, as clients send
// them ahead. One request at a time is worked at, so that what waits can be counted, and the client be held back.
import { setImmediate as roundIsOver } from 'node:timers/promises';
import type { ServerChannel } from 'ssh2';
import { answers, type PacketReader, packetReader, type Request } from './sftp.packets.ts';
import { endSession, newSession, type Reply, replyTo, type SftpSession } from './sftp.requests.ts';
import type { Upload } from './store.ts';

export type Sessions = {
  serve(channel: ServerChannel): void;
  /** Whether so much waits that no more is to be read; until so little does that reading goes on. */
  isFull(): boolean;
  isDrained(): boolean;
  /**
   * Whether a request is worked on or its answer on its way, a file or folder is open, or something has been written just now and
   * waits for its final name.
   */
  isBusy(): boolean;
  /** What waits, or is in memory of uploads, in bytes. */
  unwritten(): number;
  /** When the last request came, in ms. */
  lastRequest(): number;
  readonly channels: number;
  /** The connection is gone. Fulfilled when nothing of it is left but what waits for its final name. */
  end(): Promise<void>;
};

export type SessionsOptions = Pick<
  SftpSession,
  'pool' | 'log' | 'caller' | 'limits' | 'isStopping' | 'now'
> & {
  /** An answer is about to be sent. */
  onAnswer: () => void;
  /** What waits has become less. */
  onLess: () => void;
  /** The client sends what is no SFTP. */
  onUnreadable: () => void;
  /** Whether the client prints what comes as errors, and of a status only its code: OpenSSH does. */
  printsErrors: boolean;
};

/** So much may be answered before it is sent, in bytes. */
const maxOutbox = 16 * 1024;

/** A client that writes under a temporary name renames it at once. */
const renameMs = 2000;

type Served = {
  channel: ServerChannel;
  reader: PacketReader;
  session: SftpSession;
  hasBegun: boolean;
  isGone: boolean;
  /** Answers that are to be sent together. */
  outbox: Buffer[];
  outboxBytes: number;
  sending: Promise<void> | undefined;
  /** Ends the waiting for a client that does not read. */
  giveUpSending: () => void;
  onAnswer: () => void;
};

/** `end`: the client will send no more. `gone`: the channel is closed. */
type Turn = { served: Served; request: Request | 'end' | 'gone' };

export function openSessions(options: SessionsOptions): Sessions {
  const { limits, now } = options;
  const uploads = new Set<Upload>();
  const open = new Set<Served>();
  const turns: Turn[] = [];
  let waitingBytes = 0;
  let lastRequest = now();
  let isWorking = false;
  let working = Promise.resolve();

  function take(turn: Turn): void {
    turns.push(turn);
    if (typeof turn.request === 'object') waitingBytes += turn.request.size;
    if (!isWorking) working = work();
  }

  async function work(): Promise<void> {
    isWorking = true;
    for (let turn = turns.shift(); turn; turn = turns.shift()) {
      // oxlint-disable-next-line no-await-in-loop -- in order
      await takeTurn(turn).catch((err: unknown) => options.log.error({ err }, 'An SFTP answer failed'));
      if (typeof turn.request === 'object') waitingBytes -= turn.request.size;
      options.onLess();
    }
    isWorking = false;
  }

  function leave(served: Served): void {
    if (served.isGone) return;
    served.isGone = true;
    open.delete(served);
    served.giveUpSending();
    take({ served, request: 'gone' });
  }

  const pending = () => [...open].reduce((sum, { reader }) => sum + reader.pending, 0);
  const load = () =>
    Math.max((waitingBytes + pending()) / limits.queuedBytes, turns.length / limits.requests);

  return {
    serve(channel) {
      const served = newServed(
        channel,
        newSession({ ...options, uploads, tell: options.printsErrors ? tellerOf(channel) : () => {} }),
        options.onAnswer,
      );
      open.add(served);
      channel.on('data', (chunk: Buffer) => {
        lastRequest = now();
        for (const request of served.reader.read(chunk)) {
          if (request === 'unreadable' || isOutOfPlace(served, request)) return options.onUnreadable();
          take({ served, request });
        }
      });
      channel.on('end', () => take({ served, request: 'end' }));
      channel.on('close', () => leave(served));
      channel.on('error', () => leave(served));
    },
    // A request longer than the queue may be must still get in: then it alone.
    isFull: () => load() >= 1 && turns.length > 0,
    isDrained: () => load() <= 0.5 || turns.length === 0,
    unwritten: () => waitingBytes + pending() + [...uploads].reduce((sum, one) => sum + one.unwritten, 0),
    isBusy: () =>
      isWorking || uploads.size > 0 || [...open].some((one) => isInUse(one, now() - lastRequest < renameMs)),
    lastRequest: () => lastRequest,
    get channels() {
      return open.size;
    },
    async end() {
      for (const served of open) leave(served);
      await working;
    },
  };
}

/** Writes lines to what the client prints as errors. The channel may be gone: then the library throws. */
const tellerOf = (channel: ServerChannel) => (words: string) => {
  try {
    channel.stderr.write(`${words}\n`);
  } catch {
    // Nobody is there to be told.
  }
};

const newServed = (channel: ServerChannel, session: SftpSession, onAnswer: () => void): Served => ({
  channel,
  reader: packetReader(),
  session,
  hasBegun: false,
  isGone: false,
  outbox: [],
  outboxBytes: 0,
  sending: undefined,
  giveUpSending: () => {},
  onAnswer,
});

/** Whether an answer is on its way, a file or folder open, or, where that counts, what was written waits for its final name. */
const isInUse = ({ sending, session }: Served, waitsForName: boolean): boolean =>
  sending !== undefined || session.handles.size > 0 || (waitsForName && session.own.size > 0);

/** A session begins with the one request that tells the version. */
function isOutOfPlace(served: Served, { ask }: Request): boolean {
  const isFirst = !served.hasBegun;
  served.hasBegun = true;
  return isFirst !== (ask.verb === 'init');
}

async function takeTurn({ served, request }: Turn): Promise<void> {
  const { channel, session } = served;
  if (request === 'gone') return endSession(session);
  if (served.isGone) return;
  if (request === 'end') {
    await endSession(session);
    await served.sending;
    return hangUp(channel);
  }
  const isFirst = request.ask.verb === 'init';
  const bytes = isFirst ? answers.version() : bytesOf(request.id, await replyTo(session, request.ask));
  served.outbox.push(bytes);
  served.outboxBytes += bytes.length;
  served.sending ??= send(served);
  if (served.outboxBytes >= maxOutbox) await served.sending;
}

/** Sends the answers to all that has come at once together: a message costs more than what is in it. */
async function send(served: Served): Promise<void> {
  while (served.outbox.length > 0) {
    // oxlint-disable no-await-in-loop -- one after another
    await roundIsOver();
    const bytes = Buffer.concat(served.outbox);
    served.outbox = [];
    served.outboxBytes = 0;
    await write(served, bytes);
    // oxlint-enable no-await-in-loop
  }
  served.sending = undefined;
}

/** Fulfilled when the client has room for more, or is gone; then the library throws. */
function write(served: Served, bytes: Buffer): Promise<void> {
  return new Promise<void>((resolve) => {
    served.giveUpSending = resolve;
    try {
      served.onAnswer();
      if (served.isGone || !served.channel.writable) resolve();
      else served.channel.write(bytes, () => resolve());
    } catch {
      resolve();
    }
  });
}

function bytesOf(id: number, reply: Reply): Buffer {
  if ('status' in reply) return answers.status(id, reply.status, reply.text);
  if ('handle' in reply) return answers.handle(id, reply.handle);
  if ('entries' in reply) return answers.names(id, reply.entries);
  return answers.attributes(id, reply.attributes);
}

/** Without an exit status OpenSSH and rclone wait for ever. The connection may be gone: then the library throws. */
function hangUp(channel: ServerChannel): void {
  try {
    channel.exit(0);
    channel.eof();
    channel.close();
  } catch {
    // Nobody is there to be told.
  }
}
