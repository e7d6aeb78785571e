// A schedule draft: the values of the form, and the request body.
import type { ByDate } from '@soundings/contract/console/by-date.ts';
import type { ScheduleView, ScheduleBody } from '@soundings/contract/console/asking.ts';

export type ScheduleDraft = Omit<
  ScheduleBody,
  'perWeek' | 'everyWeeks' | 'repeatWeeks' | 'reminderDays' | 'reminderHour' | 'untilDay' | 'byDate'
> & {
  /** Whether the schedule asks the same questions every time, or a selection of the questions of KPIs. */
  kind: 'fixed' | 'kpis';
  /** Undefined: empty, or not a number. */
  perWeek: number | undefined;
  everyWeeks: number | undefined;
  repeatWeeks: number | undefined;
  hasReminder: boolean;
  reminderDays: number;
  reminderHour: number;
  /** '': no end date. */
  untilDay: string;
  /** Whether everyone in the groups is asked, or people by a date. The names below are those of the service's errors. */
  chooses: 'everyone' | 'byDate';
  /** '': not chosen yet. */
  'byDate/attribute': string;
  'byDate/side': ByDate['side'];
  'byDate/fromDays': number | undefined;
  'byDate/untilDays': number | undefined;
  'byDate/minPeople': number | undefined;
};

/** The fields about dates before a date is chosen: after a month, as for new employees. */
const noDate = {
  chooses: 'everyone',
  'byDate/attribute': '',
  'byDate/side': 'after',
  'byDate/fromDays': 30,
  'byDate/untilDays': 59,
  'byDate/minPeople': 8,
} as const;

const dateFieldsOf = (byDate: ByDate | null): Pick<ScheduleDraft, keyof typeof noDate> =>
  byDate
    ? {
        chooses: 'byDate',
        'byDate/attribute': byDate.attribute,
        'byDate/side': byDate.side,
        'byDate/fromDays': byDate.fromDays,
        'byDate/untilDays': byDate.untilDays,
        'byDate/minPeople': byDate.minPeople,
      }
    : noDate;

export const emptyDraft = (today: string): ScheduleDraft => ({
  name: '',
  kind: 'kpis',
  questionIds: [],
  kpiIds: [],
  perWeek: 5,
  everyWeeks: 8,
  groupIds: [],
  withoutGroupIds: [],
  repeat: 'weeks',
  repeatWeeks: 1,
  weekday: 1,
  hour: 9,
  anyHour: false,
  hasReminder: true,
  reminderDays: 2,
  reminderHour: 9,
  fromDay: today,
  untilDay: '',
  ...noDate,
});

export const scheduleDraftOf = (schedule: ScheduleView): ScheduleDraft => ({
  name: schedule.name,
  kind: schedule.questionIds.length > 0 ? 'fixed' : 'kpis',
  questionIds: schedule.questionIds,
  kpiIds: schedule.kpiIds,
  perWeek: schedule.perWeek ?? 5,
  everyWeeks: schedule.everyWeeks ?? 8,
  groupIds: schedule.groupIds,
  withoutGroupIds: schedule.withoutGroupIds,
  repeat: schedule.repeat,
  repeatWeeks: schedule.repeatWeeks,
  weekday: schedule.weekday,
  hour: schedule.hour,
  anyHour: schedule.anyHour,
  hasReminder: schedule.reminderDays !== null,
  reminderDays: schedule.reminderDays ?? 2,
  reminderHour: schedule.reminderHour ?? schedule.hour,
  fromDay: schedule.fromDay,
  untilDay: schedule.untilDay ?? '',
  ...dateFieldsOf(schedule.byDate),
});

/** Empty numbers are sent as 0, so that the service reports what is required. */
export function scheduleBodyOf(draft: ScheduleDraft): ScheduleBody {
  const { kind, hasReminder, questionIds, kpiIds, perWeek, everyWeeks, repeatWeeks, untilDay, ...rest } =
    draft;
  const isFixed = kind === 'fixed';
  const { reminderDays, reminderHour, chooses, ...undated } = rest;
  const {
    'byDate/attribute': attribute,
    'byDate/side': side,
    'byDate/fromDays': fromDays = 0,
    'byDate/untilDays': untilDays = 0,
    'byDate/minPeople': minPeople = 0,
    ...others
  } = undated;
  return {
    ...others,
    questionIds: isFixed ? questionIds : [],
    kpiIds: isFixed ? [] : kpiIds,
    perWeek: isFixed ? null : (perWeek ?? 0),
    everyWeeks: isFixed ? null : (everyWeeks ?? 0),
    repeatWeeks: draft.repeat === 'weeks' ? (repeatWeeks ?? 0) : 1,
    reminderDays: hasReminder ? reminderDays : null,
    reminderHour: hasReminder ? reminderHour : null,
    untilDay: untilDay === '' ? null : untilDay,
    // Without an attribute, the service reports that none of this name exists.
    byDate:
      chooses === 'everyone' ? null : { attribute: attribute || '–', side, fromDays, untilDays, minPeople },
  };
}
