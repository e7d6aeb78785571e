// The queue of requests of one connection. Clients send requests ahead, and get replies strictly in their order. Requests are
// handled one at a time, so that the waiting ones can be counted and the client can be throttled.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { ServerChannel } from 'ssh2';
import type { Upload } from '../files/store.ts';
import { type PacketReader, packetReader, replies, type Request } from './packets.ts';
import { replyTo } from './requests.ts';
import { newSession, type Reply, type SftpSession } from './session.ts';
import { endSession } from './uploads.ts';

export type Sessions = {
  serve(channel: ServerChannel): void;
  /** Whether too many requests are waiting, so that reading must stop. */
  isFull(): boolean;
  /** Whether few enough requests are waiting for reading to resume. */
  isDrained(): boolean;
  /**
   * Whether a request is being handled or its reply is being sent, a file or folder is open, or a recent upload waits for its
   * final name.
   */
  isBusy(): boolean;
  /** The bytes of waiting requests, and of uploads in memory. */
  unwritten(): number;
  /** When the last request arrived, in ms. */
  lastRequest(): number;
  readonly channels: number;
  /** Ends all sessions after the connection closed. Uploads that wait for their final name are kept. */
  end(): Promise<void>;
};

export type SessionsOptions = Pick<
  SftpSession,
  'pool' | 'log' | 'caller' | 'limits' | 'isStopping' | 'now'
> & {
  /** A reply is about to be sent. */
  onReply: () => void;
  /** A request was handled, so fewer are waiting. */
  onProgress: () => void;
  /** The client does not speak SFTP. */
  onUnreadable: () => void;
  /** Whether the client prints stderr but not the texts of statuses, as OpenSSH does. */
  printsErrors: boolean;
};

/** The maximum number of bytes of replies to collect before sending them. */
const maxOutbox = 16 * 1024;

/** Clients that upload under a temporary name rename the file immediately. */
const renameMs = 2000;

type Served = {
  channel: ServerChannel;
  reader: PacketReader;
  session: SftpSession;
  hasBegun: boolean;
  isGone: boolean;
  /** Replies to send together. */
  outbox: Buffer[];
  outboxBytes: number;
  sending: Promise<void> | undefined;
  /** Stops waiting for a client that does not read. */
  giveUpSending: () => void;
  onReply: () => void;
};

/** `end`: the client will send no more. `gone`: the channel has closed. */
type Turn = { served: Served; request: Request | 'end' | 'gone' };

export function openSessions(options: SessionsOptions): Sessions {
  const { limits, now } = options;
  const uploads = new Set<Upload>();
  const open = new Set<Served>();
  const turns = openTurns(options);
  let lastRequest = now();

  function leave(served: Served): void {
    if (served.isGone) return;
    served.isGone = true;
    open.delete(served);
    served.giveUpSending();
    turns.take({ served, request: 'gone' });
  }

  const pending = () => [...open].reduce((sum, { reader }) => sum + reader.pending, 0);
  const load = () =>
    Math.max((turns.bytes + pending()) / limits.queuedBytes, turns.waiting / limits.requests);

  return {
    serve(channel) {
      const served = newServed(
        channel,
        newSession({ ...options, uploads, print: options.printsErrors ? printerOf(channel) : () => {} }),
        options.onReply,
      );
      open.add(served);
      channel.on('data', (chunk: Buffer) => {
        lastRequest = now();
        for (const request of served.reader.read(chunk)) {
          if (request === 'unreadable' || isOutOfPlace(served, request)) return options.onUnreadable();
          turns.take({ served, request });
        }
      });
      channel.on('end', () => turns.take({ served, request: 'end' }));
      channel.on('close', () => leave(served));
      channel.on('error', () => leave(served));
    },
    // A single request may exceed the queue limit, but then it must be the only one.
    isFull: () => load() >= 1 && turns.waiting > 0,
    isDrained: () => load() <= 0.5 || turns.waiting === 0,
    unwritten: () => turns.bytes + pending() + [...uploads].reduce((sum, one) => sum + one.unwritten, 0),
    isBusy: () =>
      turns.isWorking ||
      uploads.size > 0 ||
      [...open].some((one) => isInUse(one, now() - lastRequest < renameMs)),
    lastRequest: () => lastRequest,
    get channels() {
      return open.size;
    },
    async end() {
      for (const served of open) leave(served);
      await turns.settled();
    },
  };
}

type Turns = {
  /** Adds a turn to the queue, and starts working if nothing is being handled. */
  take(turn: Turn): void;
  /** How many turns wait, without the one that is being handled, and the bytes of all requests, with that one. */
  readonly waiting: number;
  readonly bytes: number;
  readonly isWorking: boolean;
  /** Resolves when the queue is empty. */
  settled(): Promise<void>;
};

/** Returns a queue that handles one turn at a time. */
function openTurns({ log, onProgress }: Pick<SessionsOptions, 'log' | 'onProgress'>): Turns {
  const turns: Turn[] = [];
  let bytes = 0;
  let isWorking = false;
  let working = Promise.resolve();

  async function work(): Promise<void> {
    isWorking = true;
    for (let turn = turns.shift(); turn; turn = turns.shift()) {
      await takeTurn(turn).catch((err: unknown) => log.error({ err }, 'SFTP reply failed'));
      if (typeof turn.request === 'object') bytes -= turn.request.size;
      onProgress();
    }
    isWorking = false;
  }

  return {
    take(turn) {
      turns.push(turn);
      if (typeof turn.request === 'object') bytes += turn.request.size;
      if (!isWorking) working = work();
    },
    get waiting() {
      return turns.length;
    },
    get bytes() {
      return bytes;
    },
    get isWorking() {
      return isWorking;
    },
    settled: () => working,
  };
}

/** Returns a function that writes lines to the stderr of a channel. */
const printerOf = (channel: ServerChannel) => (text: string) => {
  try {
    channel.stderr.write(`${text}\n`);
  } catch {
    // The library throws if the channel has closed.
  }
};

const newServed = (channel: ServerChannel, session: SftpSession, onReply: () => void): Served => ({
  channel,
  reader: packetReader(),
  session,
  hasBegun: false,
  isGone: false,
  outbox: [],
  outboxBytes: 0,
  sending: undefined,
  giveUpSending: () => {},
  onReply,
});

/** Whether a reply is being sent, a file or folder is open, or, with `countParked`, an upload waits for its final name. */
const isInUse = ({ sending, session }: Served, countParked: boolean): boolean =>
  sending !== undefined || session.handles.size > 0 || (countParked && session.own.size > 0);

/** Whether a request violates the order: a session must begin with exactly one `init`. */
function isOutOfPlace(served: Served, { operation }: Request): boolean {
  const isFirst = !served.hasBegun;
  served.hasBegun = true;
  return isFirst !== (operation.verb === 'init');
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
  const isFirst = request.operation.verb === 'init';
  const bytes = isFirst ? replies.version() : bytesOf(request.id, await replyTo(session, request.operation));
  served.outbox.push(bytes);
  served.outboxBytes += bytes.length;
  served.sending ??= send(served);
  if (served.outboxBytes >= maxOutbox) await served.sending;
}

/** Sends the replies of one turn of the event loop in one message, because a message costs more than its content. */
async function send(served: Served): Promise<void> {
  while (served.outbox.length > 0) {
    await endOfTurn();
    const bytes = Buffer.concat(served.outbox);
    served.outbox = [];
    served.outboxBytes = 0;
    await write(served, bytes);
  }
  served.sending = undefined;
}

/** Resolves when the client can receive more, or has disconnected. In that case the library throws. */
function write(served: Served, bytes: Buffer): Promise<void> {
  return new Promise<void>((resolve) => {
    served.giveUpSending = resolve;
    try {
      served.onReply();
      if (served.isGone || !served.channel.writable) resolve();
      else served.channel.write(bytes, () => resolve());
    } catch {
      resolve();
    }
  });
}

function bytesOf(id: number, reply: Reply): Buffer {
  if ('status' in reply) return replies.status(id, reply.status, reply.text);
  if ('handle' in reply) return replies.handle(id, reply.handle);
  if ('entries' in reply) return replies.names(id, reply.entries);
  return replies.attributes(id, reply.attributes);
}

/** Closes a channel. Without an exit status, OpenSSH and rclone would wait forever. */
function hangUp(channel: ServerChannel): void {
  try {
    channel.exit(0);
    channel.eof();
    channel.close();
  } catch {
    // The library throws if the connection has closed.
  }
}
