// Runs the action of a dialog: the dialog is busy in the meantime, and shows any error itself.
import { useState } from 'react';

/** `run(action)` returns immediately. An error is kept in `error` until the next try. */
export function useAction(): { busy: boolean; error: unknown; run: (action: () => unknown) => void } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  async function perform(action: () => unknown) {
    setBusy(true);
    setError(undefined);
    try {
      await action();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  }
  return { busy, error, run: (action) => void perform(action) };
}
