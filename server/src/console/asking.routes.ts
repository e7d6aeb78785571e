// The console: questions, KPIs, schedules and open weeks.
import type { Console } from './console.ts';
import { serveLibrary } from './asking-library.ts';
import { serveRounds } from './asking-rounds.ts';
import { type Means, serveSchedules } from './asking-schedules.ts';

export function serveAsking(console: Console, parts: Means): void {
  serveLibrary(console, parts.pool);
  serveSchedules(console, parts);
  serveRounds(console, parts);
}
