// A text message, and the gateway that sends it. gateway.ts sends it over HTTP; only the service and a command load that file.

export type Sms = {
  /** The phone number in E.164. */
  to: string;
  text: string;
  /** Identifies the message. If a request is repeated, it has the same id. */
  id: string;
  /** What the message is about, for gateways that treat kinds differently. */
  kind: 'invitation' | 'reminder' | 'notice' | 'test';
  /** ISO 639-1. */
  language: string;
  /** The person, for gateways that pass messages on to a chat. */
  externalId: string | null;
  email: string | null;
};

export type Gateway = {
  /** The name of its template. */
  provider: string;
  /** How many messages it sends at the same time. */
  connections: number;
  /**
   * Resolves when the gateway has accepted the message. Throws an error of sending/outcomes.ts: Rejected if it will never accept it,
   * Deferred or Throttled if it doesn't accept it now, Unconfirmed if it may have accepted it, and another error if it accepts no message
   * now. `beforeEnd` is called when the connection is ready and before anything is sent; if it rejects, nothing is sent, and `send`
   * rejects with the same error.
   */
  send(sms: Sms, beforeEnd?: () => Promise<void>): Promise<void>;
  /** Ends sending. Messages that are being sent are finished; others are not accepted. */
  close(): void;
};
