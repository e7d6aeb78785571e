// The button that invites everyone who has a role and has never been invited or, in a list of those who were, reminds them.
import type { Chosen, PersonFilters } from '@soundings/contract/console/people.ts';
import { Send } from 'lucide-react';
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import type { PeopleFilters } from '../list/filters.ts';

/** Returns how many people match filters, and how many of them are managers. */
function useCounts(filters: PersonFilters): { people: number; managers: number } {
  const query = { ...filters, offset: 0, limit: 0 };
  const { data: people } = useData('GET /users', { query });
  const isOther = filters.role !== undefined && filters.role !== 'Manager';
  const asked = { query: { ...query, role: 'Manager' as const } };
  const { data: managers } = useData('GET /users', asked, { when: !isOther });
  return { people: people?.total ?? 0, managers: isOther ? -1 : (managers?.total ?? 0) };
}

type InviteButtonProps = { filters: PeopleFilters; onInvite: (chosen: Chosen) => void };

export function InviteButton({ filters: { filters }, onInvite }: InviteButtonProps) {
  const t = useText();
  const isReminder = filters.signIn === 'invited';
  // In a list of people who can't sign in yet, those in the list; otherwise everyone who was never invited.
  const chosen: PersonFilters =
    isReminder || filters.signIn === 'uninvited' ? filters : { signIn: 'uninvited' };
  const { people, managers } = useCounts(chosen);
  if (people === 0) return null;
  const text = isReminder ? 'remindMany' : people === managers ? 'inviteManagers' : 'inviteMany';
  return (
    <Button icon={Send} onClick={() => onInvite({ filters: chosen })}>
      {t(`invite.${text}`, { count: people })}
    </Button>
  );
}
