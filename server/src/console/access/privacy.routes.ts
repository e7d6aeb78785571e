// The console: the privacy report. Auditors see only this page and their own profile.
import type { Pool } from '../../db/db.ts';
import { readPrivacyReport } from '../../results/privacy/privacy-report.ts';
import type { Installation } from '../../results/privacy/privacy-promises.ts';
import type { Console } from '../core/console.ts';

/** `installation`: returns what the process currently knows about itself. */
export function servePrivacy(
  console: Console,
  pool: Promise<Pool>,
  installation: () => Promise<Installation>,
): void {
  console.serve('GET /privacy', async ({ accountId }) =>
    readPrivacyReport(await pool, accountId, await installation()),
  );
}
