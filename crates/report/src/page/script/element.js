// Elements of HTML and SVG in one expression. Text goes in as text nodes, never as markup: names come from the program
// under study.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function drawn(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

// A section of the page with its entry in the navigation.
function section(id, title, introduction, ...children) {
  document.getElementById("sections").append(element("a", { href: `#${id}` }, title));
  const heading = element("h2", { id: `${id}-title` }, title);
  const made = element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    heading,
    introduction && element("p", {}, introduction),
    ...children,
  );
  document.getElementById("main").append(made);
  return made;
}
