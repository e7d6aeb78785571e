// The values of the form on the settings page.
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
