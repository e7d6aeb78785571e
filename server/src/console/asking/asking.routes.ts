// The console: questions, KPIs, schedules and open weeks.
import type { Console } from '../core/console.ts';
import { serveLibrary } from './library.routes.ts';
import { serveRounds } from './rounds.routes.ts';
import { type AskingParts, serveSchedules } from './schedules.routes.ts';

export function serveAsking(console: Console, parts: AskingParts): void {
  serveLibrary(console, parts.pool);
  serveSchedules(console, parts);
  serveRounds(console, parts);
}
