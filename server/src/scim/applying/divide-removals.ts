// Finds out who can't be removed, if removals are refused as a whole: one of them must not keep everyone else's access.
import type { Fault } from '../../base/errors.ts';
import type { Transaction } from '../../db/db.ts';
import { inSavepoint } from '../../db/savepoints.ts';
import type { Removal } from './apply.sql.ts';
import { applyDivided } from './divide.ts';
import { isAboutAdministrators } from './keep-refused.ts';

/**
 * Removes parts of these one after another, and undoes it. `ids`: those that were refused alone, because of something else than
 * administrators. `isComplete`: whether that is all of them; otherwise the others must be tried again. `run`: removes a part.
 */
export async function refusedAlone(
  tx: Transaction,
  removals: readonly Removal[],
  run: (inner: Transaction, part: readonly Removal[]) => Promise<Fault | undefined>,
): Promise<{ ids: ReadonlySet<string>; isComplete: boolean }> {
  const middle = Math.ceil(removals.length / 2);
  const parts = [removals.slice(0, middle), removals.slice(middle)];
  return inSavepoint(tx, async (outer, undoAll) => {
    const { refused, left } = await applyDivided(parts, async (part) => {
      const refusal = await inSavepoint<Fault | undefined>(outer, async (inner, undo) => {
        const found = await run(inner, part);
        return found && undo(isAboutAdministrators(found) ? undefined : found);
      });
      return { blocked: new Set(), waiting: new Set(), refusal };
    });
    return undoAll({ ids: refused, isComplete: left.size === 0 });
  });
}
