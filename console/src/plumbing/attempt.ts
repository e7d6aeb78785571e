// What a button does at once, without a form or a dialog: when it does not work, that is said.
import { useErrorWords } from '../ui/faults.ts';
import { useToast } from '../ui/Toast.tsx';

/** `attempt(promise)`: nobody waits for it; what it throws is said in a toast. */
export function useAttempt(): (promise: Promise<unknown>) => void {
  const toast = useToast();
  const words = useErrorWords();
  return (promise) => {
    promise.catch((error: unknown) => toast({ text: words(error), tone: 'bad' }));
  };
}
