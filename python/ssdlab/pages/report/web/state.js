// What the parts of the script share. They stand in one function, in the order that `page.py` names, and use nothing from elsewhere.
const data = JSON.parse(document.getElementById("data").textContent);
const NAMESPACE = document.getElementById("namespace").namespaceURI;
const hidden = new Set(); // runs that are switched off
const windows = {}; // by link: the part of the axis across that is shown, or nothing
const figures = [];
