// A mail, how it is sent, and what may come of it. How that goes over SMTP is mailer.ts's, which only the service loads.
export type Mail = {
  /** One address, without a name. */
  to: string;
  subject: string;
  /** The same in plain text and in HTML: which is read depends on the reader's program. */
  text: string;
  html: string;
  /** Further headers. Their names are ours, their values may be anything. */
  headers?: Record<string, string>;
  /**
   * Names the mail. One that is sent again, since nobody can know that it had been taken, goes by the same name, by which
   * mail programs tell that they have it.
   */
  id?: string;
};

export type Mailer = {
  /**
   * Fulfilled when the mail server has taken the mail. Throws MailRefused when it will not take it at any time, MailDeferred
   * when it will not now but others may go, MailUnknown when nobody can know whether it took it, and another error when it
   * takes none now. Only what it has certainly not taken is sent again by itself. Mails beyond the few that can be on their
   * way wait in memory: send a few at once.
   */
  send(mail: Mail): Promise<void>;
  /** Lets go of the connections. Nothing is sent any more. */
  close(): void;
};

/** The mail server refuses this mail for good, or the address is none. The message names no address. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused';
}

/** The mail server does not take this mail for now: it says so of the recipient or the content. Names no address. */
export class MailDeferred extends Error {
  override readonly name = 'MailDeferred';
}

/** All of the mail was sent, and the connection ended before the server answered. The message names no address. */
export class MailUnknown extends Error {
  override readonly name = 'MailUnknown';
}
