// The values of the settings form. Empty fields are undefined, and the list of recipients is one text.
import type { AccountSettingsView } from '@soundings/contract/console/access.ts';
import type { ManagerComparison } from '@soundings/contract/comparisons.ts';
import type { FormState } from '../../ui/form/Form.tsx';

export type Values = Omit<
  AccountSettingsView,
  'notify' | 'distributionThreshold' | 'commentThreshold' | 'kpiWeeks' | 'managerComparisons'
> & {
  notify: string;
  distributionThreshold: number | undefined;
  commentThreshold: number | undefined;
  kpiWeeks: number | undefined;
} & Record<ManagerComparison, boolean>;
export type SettingsForm = FormState<Values>;
