from arc_headers import include_path
print(include_path())
