// The console: questions, KPIs, schedules and the weeks that are open.
import type { Console } from './console.ts';
import { serveLibrary } from './asking-library.ts';
import { serveRounds } from './asking-rounds.ts';
import { type Means, serveSchedules } from './asking-schedules.ts';

export function serveAsking(console: Console, means: Means): void {
  serveLibrary(console, means.pool);
  serveSchedules(console, means);
  serveRounds(console, means);
}
