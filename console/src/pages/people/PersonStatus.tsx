// Whether a person is active and, until they have a password, whether they were invited to sign in.
import type { Invitation } from '@soundings/contract/console/people.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';

type PersonStatusProps = {
  person: { active: boolean; invitation: Invitation | null; isUninvited: boolean };
};

export function PersonStatus({ person: { active, invitation, isUninvited } }: PersonStatusProps) {
  const t = useText();
  const { day } = useFormat();
  if (active && invitation)
    return (
      <Badge dot tone={invitation.isExpired || invitation.state === 'refused' ? 'warn' : 'accent'}>
        {t(invitation.state === 'refused' ? 'people.invitationRefusedShort' : 'people.invitedOn', {
          day: day(invitation.at),
        })}
      </Badge>
    );
  if (isUninvited)
    return (
      <Badge dot tone="warn">
        {t('people.neverInvited')}
      </Badge>
    );
  return (
    <Badge dot tone={active ? 'good' : 'neutral'}>
      {t(active ? 'people.active' : 'people.inactive')}
    </Badge>
  );
}
