// Lets requests wait for what a user enters in a dialog. All waiting requests share one dialog and its result.

export type DialogWait<Result> = {
  /** Shows the dialog, and returns its result. Throws if the dialog can't be loaded. */
  wait: () => Promise<Result>;
  /** Closes the dialog and gives its result to all waiting requests. */
  settle: (result: Result) => void;
};

/** `load`: loads the dialog. `show`: shows it, or closes it if undefined. */
export function dialogWait<Dialog, Result>(
  load: () => Promise<Dialog>,
  show: (dialog: Dialog | undefined) => void,
): DialogWait<Result> {
  let waiting: PromiseWithResolvers<Result> | undefined;
  return {
    async wait() {
      const dialog = await load();
      waiting ??= Promise.withResolvers<Result>();
      show(dialog);
      return waiting.promise;
    },
    settle(result) {
      show(undefined);
      waiting?.resolve(result);
      waiting = undefined;
    },
  };
}
