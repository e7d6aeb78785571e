// The templates of schedules. Imports no schemas, so that browsers don't load the schema package.

export const templateIds = [
  'pulse',
  'enps',
  'work-environment',
  'onboarding-30',
  'onboarding-60',
  'onboarding-90',
  'exit',
] as const;
export type TemplateId = (typeof templateIds)[number];
