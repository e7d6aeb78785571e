// The console: the privacy report, the only page of an Auditor besides the own profile.
import type { Pool } from '../db/db.ts';
import { type Installation, readPrivacyReport } from '../results/privacy-report.ts';
import type { Console } from './console.ts';

/** `installation`: what the process knows of itself at this moment. */
export function servePrivacy(
  console: Console,
  pool: Promise<Pool>,
  installation: () => Promise<Installation>,
): void {
  console.serve('GET /privacy', async ({ accountId }) =>
    readPrivacyReport(await pool, accountId, await installation()),
  );
}
