// Finds an option among many by typing: each typed word must begin a word of the option, ignoring accents and case.
import { folded } from '@soundings/contract/people/find-groups.ts';

/** `searchTerms`: returns further search terms; called once, when the user starts to type. */
export type ComboboxOption = { value: string; label: string; searchTerms?: () => string };

const wordsOf = new WeakMap<ComboboxOption, string[]>();

/** Returns whether every typed word begins a word of the option. Without any word, every option is found. */
export function isFound(option: ComboboxOption, typed: string): boolean {
  const own =
    wordsOf.get(option) ?? folded(`${option.label} ${option.searchTerms?.() ?? ''}`).split(/[^\p{L}\p{N}]+/u);
  wordsOf.set(option, own);
  return folded(typed)
    .trim()
    .split(/\s+/)
    .every((part) => own.some((word) => word.startsWith(part)));
}
