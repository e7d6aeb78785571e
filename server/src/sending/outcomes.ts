// What can go wrong when a message is sent, over any channel. An error of another class means that the channel takes no message now. No
// error contains an address.

/** The message will never be accepted: it was rejected permanently, or the address is invalid. */
export class Rejected extends Error {
  override readonly name = 'Rejected';
}

/** The message is not accepted now, because of its recipient or content. */
export class Deferred extends Error {
  override readonly name = 'Deferred';
}

/** The message is not accepted now, because too many are sent. `waitMs`: the shortest time to wait, if the receiver says so. */
export class Throttled extends Deferred {
  readonly waitMs: number | undefined;

  constructor(message: string, waitMs?: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

/** The whole message was sent, but the connection ended before it was confirmed. It may have been accepted. */
export class Unconfirmed extends Error {
  override readonly name = 'Unconfirmed';
}
