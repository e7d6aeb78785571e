// Runs the action of a button that has no form or dialog, and shows any error in a toast.
import { useErrorText } from '../ui/faults.ts';
import { useToast } from '../ui/floating/Toast.tsx';

/** `showErrorOf(promise)` returns immediately. An error is shown in a toast. */
export function useErrorToast(): (promise: Promise<unknown>) => void {
  const toast = useToast();
  const errorText = useErrorText();
  return (promise) => {
    promise.catch((error: unknown) => toast({ text: errorText(error), tone: 'bad' }));
  };
}
