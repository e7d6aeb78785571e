// An email, and how to send it. mailer.ts sends it over SMTP; only the service loads that file.
import { Rejected } from '../sending/outcomes.ts';

export type Mail = {
  /** One address, without a name. */
  to: string;
  subject: string;
  /** The same content in plain text and in HTML. The recipient's mail program shows one of them. */
  text: string;
  html: string;
  /**
   * Whether many emails share most of their lines. The mailer keeps how these lines are written, except those with an address, so leave this
   * out if an email contains anything else that is secret.
   */
  hasSharedLines?: boolean;
  /** Further headers. The names are ours; the values can be any text. */
  headers?: Record<string, string>;
  /**
   * Identifies the email. If an email is sent again because its delivery status is unknown, it has the same id, so that mail
   * programs recognize the duplicate.
   */
  id?: string;
  /**
   * The person who gets the email, if a bounce is to be recorded for them. Never set it for emails that only some people get
   * because of what they did or didn't answer.
   */
  person?: MailedPerson;
  /**
   * Called when the server has received everything except the end of the email. Until then, it can't have accepted the email. If this
   * rejects, the email is not sent, and `send` rejects with the same error.
   */
  beforeEnd?: () => Promise<void>;
};

export type MailedPerson = { accountId: number; userId: number };

export type Mailer = {
  /** How many emails it sends at the same time. */
  connections: number;
  /**
   * Resolves when the mail server has accepted the email. Throws an error of sending/outcomes.ts: Rejected if the server will never
   * accept it, Deferred if it doesn't accept this email now, Unconfirmed if it is unknown whether it accepted the email, and
   * another error if it accepts no email now. Only emails that were certainly not accepted are retried automatically. Send only a few
   * emails at the same time, because the others wait in memory.
   */
  send(mail: Mail): Promise<void>;
  /** Closes the connections. Nothing can be sent afterwards. */
  close(): void;
};

/**
 * Sends the email of a job. If the mail server rejects it for good, calls `onRejected` with the reason and returns false. Throws any other
 * error, so that the job is retried.
 */
export async function sendUnlessRejected(
  mailer: Mailer,
  mail: Mail,
  onRejected: (reason: string) => void,
): Promise<boolean> {
  try {
    await mailer.send(mail);
    return true;
  } catch (error) {
    if (!(error instanceof Rejected)) throw error;
    onRejected(error.message);
    return false;
  }
}
