// Sorts a table by the column whose name is pressed, and keeps the rows that hold what is typed.
for (const table of document.querySelectorAll('table.sortable')) {
  const body = table.tBodies[0];
  const key = (row, column) => row.cells[column].textContent.trim();
  table.querySelectorAll('thead th').forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      table.querySelectorAll('th[aria-sort]').forEach((other) => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const order = new Intl.Collator('en', { numeric: true });
      const rows = [...body.rows].sort((a, b) => order.compare(key(a, column), key(b, column)));
      body.append(...(down ? rows.reverse() : rows));
    });
  });
  const filter = document.createElement('input');
  filter.type = 'search';
  filter.placeholder = 'filter';
  filter.setAttribute('aria-label', `filter ${table.caption?.textContent ?? 'rows'}`);
  filter.addEventListener('input', () => {
    const wanted = filter.value.toLowerCase();
    for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  table.closest('.scroll').before(filter);
}
