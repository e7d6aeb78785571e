// All that responses of the data interface depend on at one moment.
import type { Figure, KpiFigure, Place, Rate, ShownComments } from './figures.ts';

export type Group = {
  id: number;
  externalId: string | null;
  name: string;
  description: string | null;
  parentId: number | null;
};
/** `sv`: the translation into Swedish, undefined if there is none. */
type Text = { text: string; sv: string | undefined };
export type Question = Text & { id: number; key: string; type: number; options: (Text & { id: string })[] };
/** `hasValues`: whether a value of it was ever published. */
export type Kpi = {
  id: string;
  name: string;
  imageUrl: string | null;
  questionIds: number[];
  hasValues: boolean;
};
/** `isOpen`: the week has not closed, and shows no live results yet. */
export type Asked = Place & { questionIds: number[]; isOpen: boolean };

/** The figures are those of groups that exist. */
export type AccountState = {
  /** What has happened last. */
  label: string;
  groups: Group[];
  questions: Question[];
  kpis: Kpi[];
  results: Figure[];
  rates: Rate[];
  kpiFigures: KpiFigure[];
  comments: ShownComments[];
  asked: Asked[];
};

/** A request of the data interface (§4.1). `feed` without `withSubgroups` is the feed of all groups. */
export type DataRequest = {
  endpoint: 'groups' | 'kpis' | 'kpi' | 'rates' | 'results' | 'asked' | 'feed';
  groupId: number;
  kpiId: string;
  withSubgroups: boolean;
  comments: boolean;
  granular: boolean;
  questionIds: number[] | undefined;
  range: { from: string; to: string } | undefined;
  language: 'sv' | undefined;
  format: 'csv' | 'ndjson';
};

export const textIn = ({ language }: DataRequest, { text, sv }: Text): string => (language && sv) ?? text;

/** Returns the group and, if wanted, all groups below it. */
export const scopeOf = (groups: Group[], id: number, withSubgroups: boolean): number[] => [
  id,
  ...groups
    .filter(({ parentId }) => withSubgroups && parentId === id)
    .flatMap((one) => scopeOf(groups, one.id, true)),
];
