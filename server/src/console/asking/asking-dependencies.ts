// What the routes of questions, schedules and weeks need to serve their operations.
import type { Pool } from '../../db/db.ts';
import type { Mailer } from '../../mail/mail.ts';

export type AskingDependencies = {
  pool: Promise<Pool>;
  mailer: Mailer | undefined;
  publicUrl: string;
  now: () => number;
};
