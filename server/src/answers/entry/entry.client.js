// The script of the page at /go. The address in the square code of a card ends with #CODE, which browsers don't send to anyone: it is
// taken out of the address, and so out of the history, and submitted.
(() => {
  const byId = (id) => document.getElementById(id);
  const [form, code] = [byId('entry'), byId('code')];
  const scanned = codeIn(location.hash);
  history.replaceState(null, '', location.pathname + location.search);
  code.addEventListener('input', () => {
    const isAtEnd = code.selectionStart === code.value.length;
    if (isAtEnd) code.value = grouped(code.value);
  });
  form.addEventListener('submit', (event) => {
    if (codeIn(code.value)) return;
    event.preventDefault();
    let note = byId('code-state');
    if (!note) {
      note = document.createElement('p');
      note.id = 'code-state';
      note.className = 'faults';
      note.setAttribute('role', 'alert');
      form.prepend(note);
      code.setAttribute('aria-describedby', note.id);
    }
    note.textContent = byId('typo').content.textContent;
    code.focus();
  });
  // A page that is shown again must not show the code.
  addEventListener('pagehide', () => (code.value = ''));
  if (!scanned) return code.focus();
  code.value = scanned;
  form.submit();
})();
