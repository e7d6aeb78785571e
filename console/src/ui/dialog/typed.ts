// What a user must type before an action that can't be undone.

/** A text to type, such as the number of groups to remove. */
export type Typed = { text: string; label?: string | undefined };

/** Returns whether each text was typed exactly, apart from spaces around it. */
export const isAllTyped = (wanted: readonly Typed[], inputs: readonly string[]): boolean =>
  wanted.every(({ text }, i) => inputs[i]?.trim() === text);
